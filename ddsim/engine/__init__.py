"""The simulator's machinery: clock, ledger, hardware, stalls, steps and transfers."""

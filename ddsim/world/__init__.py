"""The world outside the training: hardware, failures, links, drawn before any method runs."""

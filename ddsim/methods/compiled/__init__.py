"""Decoupled DiLoCo by compiled code: an event for what happens to hardware, none for a step."""

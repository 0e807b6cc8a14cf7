"""Decoupled DiLoCo's slots as a recurrence over arrays, between what happens to hardware."""

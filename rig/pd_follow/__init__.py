"""PD Follow: objects and bones follow a target, or lag behind their own motion, in place and orientation."""

"""PD Follow: an object or a bone follows a target, or lags behind its own motion, in place and orientation."""

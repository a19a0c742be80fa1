"""The body response to a look: weight shift of the hips, recoil of the arms, legs that keep the feet planted."""

"""The body response to a look-at: weight shift of the hips, recoil of the arms, legs that keep the feet planted."""

"""What moves the variables of a model at each call, by the structure that was recognised."""

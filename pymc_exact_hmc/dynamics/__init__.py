"""Trajectories through the walls y_j = 0, and the Markov transitions made of them."""

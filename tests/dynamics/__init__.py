"""Tests of trajectories and transitions."""

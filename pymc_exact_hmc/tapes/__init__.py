"""Small programs of arithmetic on vectors, run without compiling them."""

"""What a recall reads: the index of vectors with its copies in this process, and lessons as evidence weighs them."""

"""Search among vectors in this process: exact over whole partitions, by planes of bits over large ones."""

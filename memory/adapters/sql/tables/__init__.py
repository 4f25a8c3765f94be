"""The tables, their columns, and how values of the model are written in them."""

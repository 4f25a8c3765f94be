"""The HTTP interface, with a module for each kind of resource."""

"""What the ports are made of: stores and embedders. Imported by name, so that nobody loads what they do not use."""

"""The composition root: settings become objects here, and nowhere else is a concrete adapter named."""

"""The pure rules: what votes, time and text make of a lesson, with no store and no clock of their own."""

"""Pure rules for verdicts, retrieval, redaction and other decisions; they use neither a store nor a clock."""

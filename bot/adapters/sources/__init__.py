"""Reads files of lessons: FAQs that people wrote, and exports of platforms."""

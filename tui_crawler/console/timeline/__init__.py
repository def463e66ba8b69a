"""The politeness of origins over time, one lane each."""

"""The configuration: read from YAML into frozen values, every mistake named with file, line, column and key.

`load` reads, `schema` holds the value and the table of keys, `effective` shows, `document` documents.
"""

"""The file types that are taken in, one reader each: it walks the file's own structure, strictly.

A reader of pictures returns them again with only what shows the picture: comments, places, embedded
files and whatever hangs behind the end are left out, pixels untouched. What it cannot walk is `Broken`.
"""

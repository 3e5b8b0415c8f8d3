"""Reports of a run.

| module | what it does |
|---|---|
| `terminal` | prints the table, the failures and the verdict |
| `failure` | one failure as text |
| `document` | a run as JSON, of the schema `report.schema.json`, and back |
| `junit` | a run as JUnit's XML |
| `page` | one HTML page with the matrix of ops and types |
| `badge` | a badge (SVG) |
| `files` | writes all of these into a folder |
| `folder` | where that folder is, and where the last one was |
| `sequence` | how to run a test again after those that ran before it |
| `submission` | checks such a folder (`xla conform --verify`) |
| `compare` | compares two reports (`xla conform --compare`) |
"""

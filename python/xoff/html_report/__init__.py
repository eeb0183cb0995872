"""The report of runs as one HTML page, and the same page while a run advances.

- `recorder`: collects what the page shows from the rows of a run, in bounded memory.
- `distributions`, `frames`, `rates`: the parts of a recorder.
- `fabric`: the drawing of the network. `links`: utilisation and pauses of ports.
- `summaries`: what comes from the summary. `differences`: how the scenarios differ.
- `payload`: the data of the page. `document`: the page around the data.
- `live`, `server`: the page of a run in progress.

The page itself is in the folder `report_assets` of the package.
"""

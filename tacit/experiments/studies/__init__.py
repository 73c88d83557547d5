"""One study a folder: its sweep, task, columns, picture and page. Imports all of `experiments` but the catalogue."""

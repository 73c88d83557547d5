-- Where the service of a term can be asked: those that stand by send requests on to it.
ALTER TABLE terms ADD COLUMN address TEXT NOT NULL DEFAULT '';

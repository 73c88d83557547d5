"""The default text model: frozen encoders under a posterior and a policy of few weights. Imports `text`."""

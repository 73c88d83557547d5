"""The Lipschitz reward decoder J for whoever wants it alone; see `tacit.decoding.decoder`."""

from tacit.decoding.decoder import DecoderSettings, LipschitzDecoder

__all__ = ["DecoderSettings", "LipschitzDecoder"]

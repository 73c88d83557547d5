"""How far to trust a result: findings, the tests behind them, known outcomes, certificates. Imports `base`,
`problem` and `decoding`.
"""

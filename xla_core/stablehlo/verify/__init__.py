"""The verifier, and the checks that it shares with the ops' own rules: compatibility of types, type traits.

Readers use the constraints of attributes too. Code here changes no op tree.
"""

"""The verifier, and the checks that it shares with the rules of ops: compatibility, type traits, constraints.

Nothing here changes the op tree.
"""

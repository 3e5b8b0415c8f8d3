"""The verifier, and the checks that the rules of ops share with it: compatibility, type traits, constraints.

Nothing here changes the op tree.
"""

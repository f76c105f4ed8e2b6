"""What a kubelet's message or a pod's state means: the catalogue, and how it is looked up.

Texts that the product emits stand where they are made (`simulator.core.refusals` and others); here
a pattern is got from each by filling it with blanks. Which versions say something is read off the
switch table. Nothing here guesses: a text that fits no entry is not known.
"""

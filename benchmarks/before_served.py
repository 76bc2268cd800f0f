"""The other end of `before.py`, in the process of one version."""

from before import contenders
from turns import serve

serve(contenders())

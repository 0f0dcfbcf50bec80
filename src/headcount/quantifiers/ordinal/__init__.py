"""Methods for ordered classes: by the earth mover's distance, smoothed along the order, or drawn to even shares.

They need the classes in order, from lowest to highest. Matching with an order is also there elsewhere: ``EDy(distance="emd")``,
``DMy(distance="l1", cdf=True)`` (HDy with the earth mover's distance), `CvMy` and `RUN`.
"""

from headcount.quantifiers.ordinal.ac_ord import ACOrd
from headcount.quantifiers.ordinal.edy_map import EDyMAP
from headcount.quantifiers.ordinal.osld import OSLD
from headcount.quantifiers.ordinal.pdf_ord import PDFOrd

__all__ = ["OSLD", "ACOrd", "EDyMAP", "PDFOrd"]

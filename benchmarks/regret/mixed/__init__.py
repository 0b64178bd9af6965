"""The suite `mixed`: problems with integers, categories and logarithms, and how each library is told of them."""

# Defaults were chosen on the first seven problems; the others judge them.
CHOSEN_ON = ("svm", "neighbours", "features", "func2C", "Goldstein", "gear train", "pressure vessel")
JUDGED_ON = ("forest", "boosting", "func3C", "Ackley-5C", "coil spring", "concrete beam", "welded beam")

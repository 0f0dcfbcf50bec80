"""Linear classifiers that end within a stated relative gap of their optimum: logistic regression and the linear SVM."""

from headcount.learners.linear.classifiers import NewtonLinearSVC, NewtonLogisticRegression

__all__ = ["NewtonLinearSVC", "NewtonLogisticRegression"]

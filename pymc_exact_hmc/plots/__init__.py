"""Pictures of traces. Each takes ``ax=``, returns axes, and leaves matplotlib's settings alone."""

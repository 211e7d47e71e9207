"""The twin classifier: a rich language lends its labels to a poor one."""

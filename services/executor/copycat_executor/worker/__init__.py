"""This worker as a whole: it joins, follows what is wanted, acts on the difference to what runs, leaves."""

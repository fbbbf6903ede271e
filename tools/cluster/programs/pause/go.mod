module copycat.example/pause

go 1.24

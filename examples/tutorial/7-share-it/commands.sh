# The commands of docs/tutorial/7-share-it.md.
glasshouse export r-pier the-last-post.html --verify
glasshouse check pier-post
glasshouse worlds pack pier-post
glasshouse check pier-post.world.zip
glasshouse worlds add pier-post.world.zip --yes --allow-code

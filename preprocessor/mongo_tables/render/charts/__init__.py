"""Charts, which turn rows into series and draw them between axes as inline SVG or as a separate file."""

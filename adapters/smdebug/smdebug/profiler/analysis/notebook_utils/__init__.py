"""A profile as pictures in a notebook. They are drawn as SVG, without another library: Bokeh is not needed."""

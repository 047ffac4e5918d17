"""Draws the demo's pictures: a sky, a sun and a hill, each in colours of its own. A few kilobytes each."""

import io

WIDTH, HEIGHT = 960, 640
COLOURS = {
    "morning": ("#fde2c8", "#f28f5c", "#5c6f68"),
    "noon": ("#cfe8fa", "#f9d65c", "#4f8a5b"),
    "evening": ("#5b4b8a", "#f2765c", "#2c2440"),
    "frost": ("#e9f2f7", "#ffffff", "#8fb3c9"),
    "harvest": ("#f6e7b4", "#d9822b", "#8a5a2b"),
    "harbour": ("#bfe3dd", "#f4f1de", "#2f6f73"),
}


def draw(name: str) -> bytes:
    """Return one picture as PNG."""
    from PIL import Image, ImageDraw

    sky, sun, hill = COLOURS[name]
    picture = Image.new("RGB", (WIDTH, HEIGHT), sky)
    pen = ImageDraw.Draw(picture)
    number = list(COLOURS).index(name)
    x, y = 180 + number * 110, 140 + (number % 3) * 60
    pen.ellipse((x - 70, y - 70, x + 70, y + 70), fill=sun)
    pen.ellipse((-200, 400 + number * 10, WIDTH - 200, HEIGHT + 400), fill=hill)
    pen.ellipse((300, 460, WIDTH + 300, HEIGHT + 500), fill=hill)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()

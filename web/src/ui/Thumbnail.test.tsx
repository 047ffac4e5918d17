import { fireEvent, render, screen } from "@testing-library/react";
import { MantineProvider } from "@mantine/core";
import { expect, test } from "vitest";

import { Thumbnail } from "./Thumbnail";

const show = (kind?: string) =>
  render(
    <MantineProvider>
      <Thumbnail of={{ workspaceId: "atelier", id: "m1", kind }} alt="Waves" h={88} />
    </MantineProvider>,
  );

test("a picture shows its small picture", () => {
  show("image");
  expect(screen.getByRole("img", { name: "Waves" }).getAttribute("src")).toBe("/api/v1/workspaces/atelier/media/m1/thumbnail");
});

test("a video shows its first moment, read from the file", () => {
  show("video");
  expect(screen.getByLabelText("Waves").getAttribute("src")).toBe("/api/v1/workspaces/atelier/media/m1/file#t=0.1");
});

test("what has no small picture, and nobody said what it is, is shown as a video", () => {
  show();
  fireEvent.error(screen.getByRole("img"));
  expect(screen.getByLabelText("Waves").tagName).toBe("VIDEO");
});

import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";

import { serve } from "../../test/server";
import { account, show } from "../../test/stage";
import { empty, varyMedia, type Content } from "./content";
import { Editor } from "./Editor";

// An upload needs the browser's own request to tell its progress; here it ends when the test says so.
const uploads: ((answer: { id: string }) => void)[] = [];
vi.mock("./upload", () => ({ upload: () => new Promise((done) => uploads.push(done)) }));

function Desk({ onContent }: { onContent: (content: Content) => void }) {
  const [content, setContent] = useState(empty);
  onContent(content);
  return <Editor accounts={[account("mastodon")]} content={content} previews={[]} disabled={false} onChange={setContent} />;
}

it("loses no word that is typed while a picture is uploaded", async () => {
  serve(({ url }) => (url.includes("/media/") ? { id: "picture", name: "hall.png", kind: "image", width: 1, height: 1, size: 9, seconds: null, notes: [], alt: "", thumbnail_url: null } : []));
  let content = empty;
  const { container } = show(<Desk onContent={(now) => (content = now)} />);
  const files = container.querySelector<HTMLInputElement>('input[type="file"]');
  if (files === null) throw new Error("there is nowhere to put a file");
  await userEvent.upload(files, new File(["x"], "hall.png", { type: "image/png" }));
  await waitFor(() => expect(uploads).toHaveLength(1));
  await userEvent.type(screen.getByLabelText("Text"), "Oboe");
  await act(async () => uploads[0]?.({ id: "picture" }));
  await waitFor(() => expect(content.media).toEqual([{ media_id: "picture", alt: null }]));
  expect(content.text).toBe("Oboe");
});

it("leaves a channel that follows the others by now without files of its own", () => {
  const add = () => [{ media_id: "late", alt: null }];
  expect(varyMedia(empty, "mastodon", add)).toBe(empty);
  expect(varyMedia({ ...empty, variants: { mastodon: { media: [] } } }, "mastodon", add).variants.mastodon?.media).toEqual(add());
});

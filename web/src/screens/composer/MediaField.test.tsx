import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import { serve } from "../../test/server";
import { account, show } from "../../test/stage";
import { empty, varyMedia, type Content } from "./content";
import { Editor } from "./Editor";
import { t } from "../../messages/composer";

/** The browser's own request, which an upload needs to tell its progress; here it ends when the test says so. */
class Upload {
  static readonly sent: Upload[] = [];
  status = 0;
  response: unknown = null;
  readonly upload = {};
  onload: (() => void) | null = null;
  open() {}
  setRequestHeader() {}
  send() {
    Upload.sent.push(this);
  }
  end(response: unknown) {
    this.status = 201;
    this.response = response;
    this.onload?.();
  }
}

afterEach(() => vi.unstubAllGlobals());

function Desk({ onContent }: { onContent: (content: Content) => void }) {
  const [content, setContent] = useState(empty);
  onContent(content);
  return <Editor accounts={[account("mastodon")]} content={content} previews={[]} disabled={false} onChange={setContent} />;
}

it("loses no word that is typed while a picture is uploaded", async () => {
  vi.stubGlobal("XMLHttpRequest", Upload); // files share what they import: a mocked module may come too late
  serve(({ url }) => (url.includes("/media/") ? { id: "picture", name: "hall.png", kind: "image", width: 1, height: 1, size: 9, seconds: null, notes: [], alt: "", thumbnail_url: null } : []));
  let content = empty;
  const { container } = show(<Desk onContent={(now) => (content = now)} />);
  const files = container.querySelector<HTMLInputElement>('input[type="file"]');
  if (files === null) throw new Error("there is nowhere to put a file");
  await userEvent.upload(files, new File(["x"], "hall.png", { type: "image/png" }));
  await waitFor(() => expect(Upload.sent).toHaveLength(1));
  await userEvent.type(screen.getByLabelText(t("text")), "Oboe");
  await act(async () => Upload.sent[0]?.end({ id: "picture" }));
  await waitFor(() => expect(content.media).toEqual([{ media_id: "picture", alt: null }]));
  expect(content.text).toBe("Oboe");
});

it("leaves a channel that follows the others by now without files of its own", () => {
  const add = () => [{ media_id: "late", alt: null }];
  expect(varyMedia(empty, "mastodon", add)).toBe(empty);
  expect(varyMedia({ ...empty, variants: { mastodon: { media: [] } } }, "mastodon", add).variants.mastodon?.media).toEqual(add());
});

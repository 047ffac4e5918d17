// Saves a part of something only if nobody else changed that part since it was read. The server's own check (ETag) is
// about the whole, which changes with every send; so the part is compared here, and the check covers the moment between.
import { Problem } from "../../api/problem";
import { t } from "../../messages/accounts";

const TRIES = 3;

interface How<Part, Answer> {
  start: Part;
  read: () => Promise<{ part: Part; etag: string | null }>;
  write: (etag: string | null) => Promise<Answer>;
}

/** What somebody else made of it meanwhile. */
export class ChangedMeanwhile<Part> extends Error {
  constructor(readonly theirs: Part) {
    super(t("someoneElseChangedThisWhileYou"));
  }
}

export async function saveUnchanged<Part, Answer>({ start, read, write }: How<Part, Answer>): Promise<Answer> {
  for (let left = TRIES; ; left--) {
    const { part, etag } = await read();
    if (JSON.stringify(part) !== JSON.stringify(start)) throw new ChangedMeanwhile(part);
    try {
      return await write(etag);
    } catch (error) {
      if (!(error instanceof Problem && error.status === 412) || left <= 1) throw error;
    }
  }
}

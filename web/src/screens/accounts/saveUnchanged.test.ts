import { expect, it, vi } from "vitest";

import { Problem } from "../../api/problem";
import { ChangedMeanwhile, saveUnchanged } from "./saveUnchanged";

const stale = () => Promise.reject(new Problem(412, "changed_meanwhile", "It was changed by somebody else."));

it("saves with the name of the state that it saw", async () => {
  const write = vi.fn(async () => "saved");
  expect(await saveUnchanged({ start: [1], read: async () => ({ part: [1], etag: '"7"' }), write })).toBe("saved");
  expect(write).toHaveBeenCalledWith('"7"');
});

it("writes nothing over what somebody else made of the same part", async () => {
  const write = vi.fn();
  await expect(saveUnchanged({ start: [1], read: async () => ({ part: [2], etag: '"7"' }), write })).rejects.toBeInstanceOf(ChangedMeanwhile);
  expect(write).not.toHaveBeenCalled();
});

it("looks again when another part changed meanwhile, but not for ever", async () => {
  const write = vi.fn<(etag: string | null) => Promise<string>>().mockImplementationOnce(stale).mockResolvedValue("saved");
  expect(await saveUnchanged({ start: [1], read: async () => ({ part: [1], etag: null }), write })).toBe("saved");
  expect(write).toHaveBeenCalledTimes(2);
  await expect(saveUnchanged({ start: [1], read: async () => ({ part: [1], etag: null }), write: stale })).rejects.toThrow("somebody else");
});

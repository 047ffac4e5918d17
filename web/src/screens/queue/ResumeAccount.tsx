import { Button, Group, Modal, Text } from "@mantine/core";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { Failed } from "../../ui/Failed";
import { Loading } from "../../ui/Loading";
import { ResumeDialog } from "./ResumeDialog";
import { useQueueActs, useQueueView } from "./useQueue";

/** From anywhere: an account with a queue resumes as its queue does; one without has nothing that came due in slots. */
export function ResumeAccount({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const path = { workspace_id: useWorkspaceId(), account_id: accountId };
  const view = useQueueView(accountId, 14);
  const acts = useQueueActs(accountId, view.data?.zone ?? "UTC");
  const plain = useAct("account", () => take(api.POST("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/resume", { params: { path }, body: { choice: null } })), {
    done: () => "It sends again.",
    after: onClose,
  });
  if (view.data !== undefined)
    return (
      <ResumeDialog
        accountId={accountId}
        view={view.data}
        busy={acts.resume.isPending}
        onResume={(asked) => acts.resume.mutate(asked, { onSuccess: onClose })}
        onClose={onClose}
      />
    );
  const lacksQueue = view.error instanceof Problem && view.error.code === "no_queue";
  return (
    <Modal opened onClose={onClose} title="Resume">
      {view.isPending && <Loading rows={2} />}
      {view.isError && !lacksQueue && <Failed error={view.error} again={() => void view.refetch()} />}
      {lacksQueue && (
        <Group justify="space-between">
          <Text size="sm">It has no queue; what waits goes on at its own time.</Text>
          <Button loading={plain.isPending} onClick={() => plain.mutate()}>
            Resume
          </Button>
        </Group>
      )}
    </Modal>
  );
}

import { Modal } from "@mantine/core";

import { useAccounts } from "../../api/accounts";
import { Problem } from "../../api/problem";
import { Failed } from "../../ui/Failed";
import { Loading } from "../../ui/Loading";
import { ResumeDialog } from "./ResumeDialog";
import { useQueueActs, useQueueView } from "./useQueue";
import { t } from "../../messages/queue";

/** From anywhere: what came due is a person's choice; an account without weekly slots has none to move posts to. */
export function ResumeAccount({ accountId, onClose, onDone }: { accountId: string; onClose: () => void; onDone?: () => void }) {
  const view = useQueueView(accountId, 14);
  const account = useAccounts().data?.find(({ id }) => id === accountId);
  const zone = view.data?.zone ?? account?.zone ?? "UTC";
  const acts = useQueueActs(accountId, zone);
  const lacksQueue = view.error instanceof Problem && view.error.code === "no_queue";
  if (view.data === undefined && !lacksQueue)
    return (
      <Modal opened onClose={onClose} title={t("resume")}>
        {view.isPending ? <Loading rows={2} /> : <Failed error={view.error} again={() => void view.refetch()} />}
      </Modal>
    );
  return (
    <ResumeDialog
      accountId={accountId}
      view={view.data ?? null}
      zone={zone}
      paused={view.data?.paused ?? account?.lane?.paused ?? false}
      busy={acts.resume.isPending}
      onResume={(asked) =>
        acts.resume.mutate(asked, {
          onSuccess: () => {
            onDone?.();
            onClose();
          },
        })
      }
      onClose={onClose}
    />
  );
}

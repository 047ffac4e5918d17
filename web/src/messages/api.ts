import { translator } from "./translator";

export const t = translator("api", {
  cantReachTheServer: "Can't reach the server.",
  cantReachTheServerNothingWas: "Can't reach the server. Nothing was changed.",
  tryAgainItWontBeDone: "Try again: it won't be done twice.",
  checkBeforeYouTryAgain: "Check before you try again.",
  theServerDidntAnswerSoThis: "The server didn't answer, so this may or may not have worked. {on}",
  theServersAnswerWasCutOff: "The server's answer was cut off. Try again.",
  theServerReturnedAnErrorStatus: "The server returned an error ({status, number}) without a reason.",
});

# Completion of ouro-timer for PowerShell. In the file $PROFILE names:
#
#     ouro-timer completion powershell | Out-String | Invoke-Expression
#
# The words typed so far are handed to "ouro-timer __complete" as they stand. Nothing here evaluates or expands them.

Register-ArgumentCompleter -Native -CommandName 'ouro-timer', 'ouro-timer.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words up to the cursor, without their quotes where they are plain strings.
    $line = $commandAst.ToString()
    $origin = $commandAst.Extent.StartOffset
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition })
    $words = @($elements | ForEach-Object {
        if ($_.Extent.EndOffset -gt $cursorPosition) {
            $_.Extent.Text.Substring(0, $cursorPosition - $_.Extent.StartOffset)
        } elseif ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $_.Value
        } else {
            $_.Extent.Text
        }
    })
    # Windows PowerShell drops an empty word on the way to a program, so that one is told of by a flag.
    $options = @()
    if ($elements[-1].Extent.EndOffset -lt $cursorPosition) { $options = @('--empty') }

    # A program called by its path answers for itself.
    $program = 'ouro-timer'
    if ($words[0] -match '[\\/]' -and (Test-Path -LiteralPath $words[0] -PathType Leaf)) { $program = $words[0] }

    $rest = @($words | Select-Object -Skip 1)
    $reply = @(& $program '__complete' @options '--' @rest 2>$null)

    if ($reply.Count -eq 0) { return '' } # an empty word keeps PowerShell from offering files
    if ($reply[0] -eq ':files') { return } # and nothing at all lets it
    if ($reply[0] -match '^:command (\d+)$') {
        $start = [int]$Matches[1]
        if ($start -ge $commandAst.CommandElements.Count) { return }
        $from = $commandAst.CommandElements[$start].Extent.StartOffset - $origin
        $tail = $line.Substring($from).PadRight($cursorPosition - $origin - $from)
        return [System.Management.Automation.CommandCompletion]::CompleteInput(
            $tail, $cursorPosition - $origin - $from, $null).CompletionMatches
    }
    foreach ($answer in $reply) {
        $word, $about = $answer -split "`t", 2
        if (-not $about) { $about = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
}

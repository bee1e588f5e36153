@echo off
rem The command line from a checkout on Windows: set-up when it is needed, then the program.
setlocal
set "ROOT=%~dp0.."
set "NODE=%ROOT%\node_modules\node\bin\node.exe"
fc /b "%ROOT%\package-lock.json" "%ROOT%\node_modules\.installed-lock.json" >nul 2>nul
set "STALE=%ERRORLEVEL%"
if not exist "%ROOT%\assets\icons" set "STALE=1"
if not "%STALE%"=="0" (
  node "%ROOT%\scripts\setup.mjs" <nul || exit /b 1
)
if not exist "%NODE%" set "NODE=node"
"%NODE%" "%ROOT%\app\cli\hivebar.node.ts" %*
exit /b %ERRORLEVEL%
